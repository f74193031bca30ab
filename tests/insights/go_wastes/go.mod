module go_wastes

go 1.21
