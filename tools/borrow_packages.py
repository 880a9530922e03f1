"""Let another virtual environment see this one's packages, but not its genus."""

import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = Path(sys.argv[1]) / "lib" / version / "site-packages"
    # A path taken from a .pth file is searched for packages, but its own .pth files, which would bring in the
    # editable genus, are not read.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
