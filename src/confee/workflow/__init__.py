"""What the Snakefile and the commands it runs share. All files hang together by content: see
"Files" in docs/design.md."""
