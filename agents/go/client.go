package flamewatch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Version of the agent.
const Version = "0.2.0"

const (
	parkedTimeout    = 120 * time.Second // servers park a handshake for about 50 s
	uploadTimeout    = 60 * time.Second
	longestCapture   = 120 * time.Second
	maxResponseBytes = 1 << 20
	longestName      = 1300
)

var validName = regexp.MustCompile(`^projects/[A-Za-z0-9_.:~-]{1,256}/profiles/[A-Za-z0-9_.:~=-]+$`)

// assignment is a capture request of the server.
type assignment struct {
	name     string
	kind     Type
	duration time.Duration
}

// errorResponse is a response with an error status; 409 means that no profile is requested now.
type errorResponse struct {
	status     int
	message    string
	retryAfter *time.Duration // nil if the response has no delay
}

func (e *errorResponse) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

// client makes the two API calls of an agent.
type client struct {
	config Config
	http   *http.Client
	host   string
	id     string
}

type deployment struct {
	ProjectID string            `json:"projectId,omitempty"`
	Target    string            `json:"target"`
	Labels    map[string]string `json:"labels"`
}

type profileMessage struct {
	Name         string            `json:"name,omitempty"`
	ProfileType  Type              `json:"profileType"`
	Deployment   deployment        `json:"deployment"`
	Duration     string            `json:"duration"`
	ProfileBytes []byte            `json:"profileBytes,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
}

func newClient(config Config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	return &client{
		config: config,
		host:   hostname(),
		id:     newUUID(),
		http: &http.Client{
			Transport: transport,
			// A redirect would send the key to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

func newUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
}

// handshake offers types and waits for a capture request. An error response is an *errorResponse.
func (c *client) handshake(ctx context.Context, types []Type) (assignment, error) {
	message := map[string]any{"deployment": c.deployment(), "profileType": types}
	path := "/v2/projects/" + c.config.Project + "/profiles"
	body, err := c.send(ctx, http.MethodPost, path, message, parkedTimeout)
	if err != nil {
		return assignment{}, err
	}
	return readAssignment(body, types)
}

// upload sends a profile (gzipped pprof). An error response is an *errorResponse.
func (c *client) upload(ctx context.Context, request assignment, profile []byte) error {
	message := profileMessage{
		Name:         request.name,
		ProfileType:  request.kind,
		Deployment:   c.deployment(),
		Duration:     fmt.Sprintf("%.3fs", request.duration.Seconds()),
		ProfileBytes: profile,
		Labels:       map[string]string{"instance": c.host},
	}
	_, err := c.send(ctx, http.MethodPatch, "/v2/"+request.name, message, uploadTimeout)
	return err
}

func (c *client) deployment() deployment {
	labels := map[string]string{"language": "go"}
	if c.config.Version != "" {
		labels["version"] = c.config.Version
	}
	if c.config.Zone != "" {
		labels["zone"] = c.config.Zone
	}
	message := deployment{Target: c.config.Service, Labels: labels}
	if c.config.Project != ownProject {
		message.ProjectID = c.config.Project
	}
	return message
}

func (c *client) send(ctx context.Context, method, path string, message any, timeout time.Duration) ([]byte, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.config.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.config.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "flamewatch-go/"+Version)
	request.Header.Set("X-Flamewatch-Agent", c.id)
	request.Header.Set("X-Flamewatch-Host", c.host)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxResponseBytes {
		return nil, fmt.Errorf("the response is larger than %d bytes", maxResponseBytes)
	}
	if response.StatusCode != http.StatusOK {
		return nil, readError(response.StatusCode, body, response.Header.Get("Retry-After"))
	}
	return body, nil
}

func readAssignment(body []byte, offered []Type) (assignment, error) {
	var message struct {
		Name        string `json:"name"`
		ProfileType Type   `json:"profileType"`
		Duration    string `json:"duration"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return assignment{}, errors.New("invalid response: not a JSON object of the API")
	}
	if len(message.Name) > longestName || !validName.MatchString(message.Name) {
		return assignment{}, errors.New("invalid response: no profile name")
	}
	duration := parseDuration(message.Duration)
	if duration == nil || *duration > longestCapture {
		return assignment{}, errors.New("invalid response: no valid duration")
	}
	for _, kind := range offered {
		if kind == message.ProfileType {
			return assignment{message.Name, kind, *duration}, nil
		}
	}
	return assignment{}, errors.New("invalid response: a profile type that was not offered")
}

// readError decodes a google.rpc.Status, or any other body that a proxy may send.
func readError(status int, body []byte, retryAfter string) *errorResponse {
	var message struct {
		Error struct {
			Message string `json:"message"`
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	found := &errorResponse{status: status}
	if json.Unmarshal(body, &message) == nil {
		found.message = strings.Map(oneLine, message.Error.Message)
		for _, detail := range message.Error.Details {
			if delay := parseDuration(detail.RetryDelay); delay != nil {
				found.retryAfter = delay
				return found
			}
		}
	}
	if seconds, err := strconv.ParseUint(strings.TrimSpace(retryAfter), 10, 20); err == nil {
		delay := time.Duration(seconds) * time.Second
		found.retryAfter = &delay
	}
	return found
}

func oneLine(letter rune) rune {
	if letter < ' ' || letter == 0x7f {
		return ' '
	}
	return letter
}

// parseDuration reads google.protobuf.Duration in its JSON form, such as "10s"; nil if it is none.
func parseDuration(text string) *time.Duration {
	number, isSeconds := strings.CutSuffix(text, "s")
	seconds, err := strconv.ParseFloat(number, 64)
	if !isSeconds || err != nil || seconds < 0 || seconds > 1e9 {
		return nil
	}
	duration := time.Duration(seconds * float64(time.Second))
	return &duration
}
