"""Jobs that can be interrupted and resumed: a journal in a locked folder, workers, progress and time estimates."""
