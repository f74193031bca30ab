// Query a server as Grafana's data source for Pyroscope does: with the client that Pyroscope's API
// module generates. Write what its messages say as JSON.
//
// Usage: pyroscope_query URL USER PASSWORD METHOD REQUEST, with the request message in JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// basicAuth adds the user and password of a data source to each request.
type basicAuth struct{ user, password string }

func (auth basicAuth) RoundTrip(request *http.Request) (*http.Response, error) {
	request.SetBasicAuth(auth.user, auth.password)
	return http.DefaultTransport.RoundTrip(request)
}

func main() {
	if len(os.Args) != 6 {
		fail("usage: pyroscope_query URL USER PASSWORD METHOD REQUEST")
	}
	http := &http.Client{Transport: basicAuth{os.Args[2], os.Args[3]}}
	client := querierv1connect.NewQuerierServiceClient(http, os.Args[1])
	message, err := call(client, os.Args[4], []byte(os.Args[5]))
	if err != nil {
		written, _ := json.Marshal(map[string]string{
			"code": connect.CodeOf(err).String(), "message": err.Error(),
		})
		fmt.Println(string(written))
		return
	}
	written, err := protojson.Marshal(message)
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(string(written))
}

func call(client querierv1connect.QuerierServiceClient, method string, request []byte) (proto.Message, error) {
	switch method {
	case "ProfileTypes":
		return unary(client.ProfileTypes, request, &querierv1.ProfileTypesRequest{})
	case "LabelNames":
		return unary(client.LabelNames, request, &typesv1.LabelNamesRequest{})
	case "LabelValues":
		return unary(client.LabelValues, request, &typesv1.LabelValuesRequest{})
	case "Series":
		return unary(client.Series, request, &querierv1.SeriesRequest{})
	case "SelectMergeStacktraces":
		return unary(client.SelectMergeStacktraces, request, &querierv1.SelectMergeStacktracesRequest{})
	case "SelectMergeSpanProfile":
		return unary(client.SelectMergeSpanProfile, request, &querierv1.SelectMergeSpanProfileRequest{})
	case "SelectMergeProfile":
		return unary(client.SelectMergeProfile, request, &querierv1.SelectMergeProfileRequest{})
	case "SelectSeries":
		return unary(client.SelectSeries, request, &querierv1.SelectSeriesRequest{})
	case "SelectHeatmap":
		return unary(client.SelectHeatmap, request, &querierv1.SelectHeatmapRequest{})
	case "Diff":
		return unary(client.Diff, request, &querierv1.DiffRequest{})
	case "AnalyzeQuery":
		return unary(client.AnalyzeQuery, request, &querierv1.AnalyzeQueryRequest{})
	case "GetProfileStats":
		return unary(client.GetProfileStats, request, &typesv1.GetProfileStatsRequest{})
	}
	return nil, fmt.Errorf("unknown method %s", method)
}

type pointer[T any] interface {
	*T
	proto.Message
}

// unary parses the request message, sends it and returns the message of the response.
func unary[Q, A any, PQ pointer[Q], PA pointer[A]](
	send func(context.Context, *connect.Request[Q]) (*connect.Response[A], error),
	text []byte,
	message PQ,
) (proto.Message, error) {
	if err := protojson.Unmarshal(text, message); err != nil {
		return nil, err
	}
	response, err := send(context.Background(), connect.NewRequest((*Q)(message)))
	if err != nil {
		return nil, err
	}
	return PA(response.Msg), nil
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
