module known_rates

go 1.22

require flamewatch.dev/agent v0.0.0

replace flamewatch.dev/agent => ../../../go
