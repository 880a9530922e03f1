import sys
open(sys.argv[1], "w").write("// empty\n")
