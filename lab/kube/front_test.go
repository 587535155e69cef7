package kube

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestFrontSaysWhoCalls(t *testing.T) {
	f, stranger := sharedTalos(t), newTalos(t, "https://10.0.0.12:6443")
	pool := stdx509.NewCertPool()
	pool.AppendCertsFromPEM(f.bundle.Certs.K8s.Crt)
	front := &front{clients: pool}
	groups := []string{"people", "system:masters"}
	for name, test := range map[string]struct {
		by    *talos
		usage stdx509.ExtKeyUsage
		known bool
	}{
		"a client of the cluster": {f, stdx509.ExtKeyUsageClientAuth, true},
		"a server of the cluster": {f, stdx509.ExtKeyUsageServerAuth, false},
		"a client of another one": {stranger, stdx509.ExtKeyUsageClientAuth, false},
	} {
		t.Run(name, func(t *testing.T) {
			signed, err := parseCertificate(test.by.sign(test.by.bundle.Certs.K8s, "alex", groups, test.usage).Crt)
			require.NoError(t, err)
			client := front.client(&tls.ConnectionState{PeerCertificates: []*stdx509.Certificate{signed}})
			require.Equal(t, test.known, client != nil)
			if client == nil {
				return
			}
			header := http.Header{"X-Remote-User": {"root"}, "X-Remote-Extra-Scopes": {"all"}, "Accept": {"*/*"}}
			dropIdentity(header)
			identify(header, client)
			require.Equal(t, http.Header{"Accept": {"*/*"}, "X-Remote-User": {"alex"}, "X-Remote-Group": groups}, header)
		})
	}
	require.Nil(t, front.client(&tls.ConnectionState{}), "nobody")
}

func TestFrontNotesWhoChangesWhat(t *testing.T) {
	facts := timeline.New(time.Now, nil)
	front := &front{facts: facts, cluster: "c"}
	for _, call := range []struct{ user, method, target string }{
		{"admin", "GET", "/api/v1/nodes?watch=true"},
		{"admin", "POST", "/api/v1/namespaces"},
		{"admin", "PATCH", "/api/v1/nodes/w-1?dryRun=All&fieldManager=x"},
		{"system:node:w-1", "PATCH", "/api/v1/nodes/w-1/status"},
		{"admin", "DELETE", "/api/v1/nodes/w-1"},
	} {
		front.note(httptest.NewRequestWithContext(t.Context(), call.method, call.target, nil), call.user)
	}
	noted, _ := facts.After(0)
	var calls []string
	for _, fact := range noted {
		require.Equal(t, []string{"c", "call", "admin"}, []string{fact.Subject, fact.What, fact.Detail["user"]})
		calls = append(calls, fact.Value)
	}
	require.Equal(t, []string{"POST /api/v1/namespaces", "DELETE /api/v1/nodes/w-1"}, calls)
}

func TestRefuseIsAStatusOfTheAPI(t *testing.T) {
	for name, test := range map[string]struct {
		outcome fault.Outcome
		code    int
		body    string
	}{
		"with what was asked for": {
			fault.Outcome{Code: "503", Message: "on purpose"}, 503,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"on purpose","reason":"ServiceUnavailable","code":503}`,
		},
		"without": {
			fault.Outcome{}, 500,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal Server Error","reason":"InternalError","code":500}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			refuse(recorder, &test.outcome)
			require.Equal(t, test.code, recorder.Code)
			require.JSONEq(t, test.body, recorder.Body.String())
		})
	}
}
