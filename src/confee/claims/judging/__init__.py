"""What claims share: verdicts and their rules, and ways to judge that several claims use."""
