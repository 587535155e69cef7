package node

import (
	"bytes"
	"context"
	stdx509 "crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// trust is every trustd of the lab: where a node without the key of its CA gets
// its certificate signed.
type trust struct {
	mu      sync.Mutex
	signers map[*node]*secrets.OSRootSpec
	waiting map[*node]bool
}

func newTrust() *trust {
	return &trust{signers: map[*node]*secrets.OSRootSpec{}, waiting: map[*node]bool{}}
}

// join says that a control plane's trustd is up, once it has what it signs
// with: the service may be quicker than that.
func (t *trust) join(ctx context.Context, n *node) error {
	kind := secrets.NewOSRoot(secrets.OSRootID).Metadata()
	if _, err := n.resources.State.WatchFor(ctx, kind, state.WithEventTypes(state.Created, state.Updated)); err != nil {
		return err
	}
	root, err := safe.StateGetByID[*secrets.OSRoot](ctx, n.resources.State, secrets.OSRootID)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.signers[n] = root.TypedSpec()
	for waiting := range t.waiting {
		waiting.signed.ring()
	}
	return nil
}

func (t *trust) leave(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.signers, n)
	delete(t.waiting, n)
}

// signer is the CA of a trustd that knows the node's token and that the node
// itself trusts. Without one the node is woken when there may be.
func (t *trust) signer(n *node, root *secrets.OSRootSpec) *x509.PEMEncodedCertificateAndKey {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, spec := range t.signers {
		if spec.Token != root.Token {
			continue
		}
		for _, accepted := range root.AcceptedCAs {
			if bytes.Equal(accepted.Crt, spec.IssuingCA.Crt) {
				delete(t.waiting, n)
				return spec.IssuingCA
			}
		}
	}
	t.waiting[n] = true
	return nil
}

// certificateController makes the certificate that the API has: signed by the
// maintenance CA, by the node's own key of the machine CA, or by a trustd.
func (n *node) certificateController() controller.Controller {
	return &played{
		name: "secrets.APIController",
		inputs: []controller.Input{
			reads(network.NamespaceName, network.StatusType),
			reads(configresource.NamespaceName, configresource.MachineTypeType),
			reads(secrets.NamespaceName, secrets.OSRootType),
			reads(secrets.NamespaceName, secrets.CertSANType),
			reads(secrets.NamespaceName, secrets.MaintenanceRootType),
		},
		outputs: []controller.Output{writes(secrets.APIType)},
		wake:    n.signed,
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			certificate, err := n.certificate(ctx, r)
			if state.IsNotFoundError(err) {
				return nil // all of it comes sooner or later
			}
			if err != nil {
				return err
			}
			if certificate == nil {
				// No certificate of another life is shown.
				if err := r.Destroy(ctx, secrets.NewAPI().Metadata()); err != nil && !state.IsNotFoundError(err) {
					return err
				}
				return nil
			}
			return safe.WriterModify(ctx, r, secrets.NewAPI(), func(api *secrets.API) error {
				*api.TypedSpec() = *certificate
				return nil
			})
		},
	}
}

func (n *node) certificate(ctx context.Context, r controller.Runtime) (*secrets.APICertsSpec, error) {
	status, err := safe.ReaderGetByID[*network.Status](ctx, r, network.StatusID)
	if err != nil {
		return nil, err
	}
	kind, err := safe.ReaderGetByID[*configresource.MachineType](ctx, r, configresource.MachineTypeID)
	if err != nil && !state.IsNotFoundError(err) {
		return nil, err
	}
	if !status.TypedSpec().AddressReady {
		return nil, nil
	}
	if kind == nil || kind.MachineType() == machine.TypeUnknown {
		root, err := safe.ReaderGetByID[*secrets.MaintenanceRoot](ctx, r, secrets.MaintenanceRootID)
		if err != nil {
			return nil, err
		}
		sans, err := safe.ReaderGetByID[*secrets.CertSAN](ctx, r, secrets.CertSANMaintenanceID)
		if err != nil {
			return nil, err
		}
		server, err := issue(root.TypedSpec().CA, sans.TypedSpec(), stdx509.ExtKeyUsageServerAuth)
		return &secrets.APICertsSpec{Server: server, SkipVerifyingClientCert: true}, err
	}
	root, err := safe.ReaderGetByID[*secrets.OSRoot](ctx, r, secrets.OSRootID)
	if err != nil {
		return nil, err
	}
	sans, err := safe.ReaderGetByID[*secrets.CertSAN](ctx, r, secrets.CertSANAPIID)
	if err != nil {
		return nil, err
	}
	spec := &secrets.APICertsSpec{AcceptedCAs: root.TypedSpec().AcceptedCAs}
	ca := root.TypedSpec().IssuingCA
	if kind.MachineType().IsControlPlane() {
		spec.Client, err = issue(ca, sans.TypedSpec(), stdx509.ExtKeyUsageClientAuth, x509.Organization(string(role.Impersonator)))
		if err != nil {
			return nil, err
		}
	} else if ca = n.trust.signer(n, root.TypedSpec()); ca == nil {
		return nil, nil
	}
	spec.Server, err = issue(ca, sans.TypedSpec(), stdx509.ExtKeyUsageServerAuth)
	return spec, err
}

// issue signs as machined and trustd do; a client's certificate has no names.
func issue(ca *x509.PEMEncodedCertificateAndKey, sans *secrets.CertSANSpec, usage stdx509.ExtKeyUsage, more ...x509.Option) (*x509.PEMEncodedCertificateAndKey, error) {
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(ca)
	if err != nil {
		return nil, fmt.Errorf("the CA of the API: %w", err)
	}
	options := append([]x509.Option{
		x509.CommonName(sans.FQDN),
		x509.NotAfter(time.Now().Add(x509.DefaultCertificateValidityDuration)),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{usage}),
	}, more...)
	if usage == stdx509.ExtKeyUsageServerAuth {
		options = append(options, x509.IPAddresses(sans.StdIPs()), x509.DNSNames(sans.DNSNames))
	}
	pair, err := x509.NewKeyPair(authority, options...)
	if err != nil {
		return nil, fmt.Errorf("a certificate of the API: %w", err)
	}
	return x509.NewCertificateAndKeyFromKeyPair(pair), nil
}
