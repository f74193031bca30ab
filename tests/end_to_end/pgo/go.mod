module flamewatch.dev/pgo

go 1.21
