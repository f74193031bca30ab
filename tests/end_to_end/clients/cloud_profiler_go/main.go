// Program with known hot functions, profiled by cloud.google.com/go/profiler.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"log"
	"os"
	"sync"
	"time"

	"cloud.google.com/go/profiler"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

var (
	retained [][]byte
	sink     uint64
	lock     sync.Mutex
)

//go:noinline
func hotLoop() {
	for i := uint64(0); i < 50_000_000; i++ {
		sink += i * i
	}
}

//go:noinline
func keepMemory() {
	if len(retained) < 64 {
		retained = append(retained, make([]byte, 1<<20))
	}
}

//go:noinline
func allocateMuch() {
	for range 32 {
		chunk := make([]byte, 1<<20)
		sink += uint64(chunk[len(chunk)/2])
	}
}

//go:noinline
func holdLock() {
	lock.Lock()
	time.Sleep(200 * time.Microsecond)
	lock.Unlock()
}

//go:noinline
func waitForever() {
	select {}
}

// apiKey sends an API key with each call, on plaintext connections too.
type apiKey string

func (key apiKey) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"x-goog-api-key": string(key)}, nil
}

func (apiKey) RequireTransportSecurity() bool { return false }

func plaintext(key string) []option.ClientOption {
	return []option.ClientOption{
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithPerRPCCredentials(apiKey(key))),
	}
}

func encrypted(keyFile, authority string) []option.ClientOption {
	pem, err := os.ReadFile(authority)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := credentials.NewTLS(&tls.Config{RootCAs: roots})
	return []option.ClientOption{
		option.WithAuthCredentialsFile(option.ServiceAccount, keyFile),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(transport)),
	}
}

func main() {
	address := flag.String("address", "", "HOST:PORT of the gRPC server")
	project := flag.String("project", "", "project id")
	keyFile := flag.String("key-file", "", "key file, for TLS")
	authority := flag.String("ca", "", "file with the CA of the server's certificate, for TLS")
	key := flag.String("key", "", "API key, for plaintext")
	flag.Parse()

	options := plaintext(*key)
	if *authority != "" {
		options = encrypted(*keyFile, *authority)
	}
	config := profiler.Config{
		Service:        "go-shop",
		ServiceVersion: "1.0",
		ProjectID:      *project,
		APIAddr:        *address,
		Zone:           "zone-1",
		Instance:       "instance-1",
		MutexProfiling: true,
		DebugLogging:   true,
	}
	if err := profiler.Start(config, options...); err != nil {
		log.Fatal(err)
	}
	for range 20 {
		go waitForever()
	}
	for range 4 {
		go func() {
			for {
				holdLock()
			}
		}()
	}
	for {
		hotLoop()
		keepMemory()
		allocateMuch()
		time.Sleep(10 * time.Millisecond)
	}
}
