"""The subcommands of `svmtool` other than train, predict and scale; one file for each."""
