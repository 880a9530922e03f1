"""What was measured, as tables, plots and pages."""
