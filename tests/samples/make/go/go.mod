module samples

go 1.22
