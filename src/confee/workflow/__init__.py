"""What the Snakefile and the commands it runs share. The section
"Which files are made again?" of docs/design.md explains how files depend on each other."""
