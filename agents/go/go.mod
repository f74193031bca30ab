module flamewatch.dev/agent

go 1.22
