
D
	acme-shopgo-shop
languagego
zonezone-1
version1.0"projects/acme-shop