"""The subcommands of `svmtool` beside train, predict and scale; one file for each."""
