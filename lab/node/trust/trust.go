// Package trust is the certificates of simulated nodes for the Talos API, and the trustds that sign them.
package trust

import (
	"bytes"
	"context"
	stdx509 "crypto/x509"
	"fmt"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// Trust is the trustds of a lab: they sign the certificates of nodes that do not have the CA's key.
type Trust struct {
	mu      sync.Mutex
	signers map[*Member]*secrets.OSRootSpec
	waiting map[*Member]bool
}

// New returns a lab without trustds.
func New() *Trust {
	return &Trust{signers: map[*Member]*secrets.OSRootSpec{}, waiting: map[*Member]bool{}}
}

// Member is one boot of a node. It signs for others while its trustd is up, and has its own certificate.
type Member struct {
	boot  *boot.Boot
	trust *Trust
	// signed rings when there may be a certificate.
	signed resources.Bell
}

// NewMember returns a boot without a certificate.
func (t *Trust) NewMember(of *boot.Boot) *Member {
	return &Member{boot: of, trust: t, signed: resources.NewBell()}
}

// Join starts to sign for others. It returns once the node has its signing key: the service may start earlier.
func (m *Member) Join(ctx context.Context) error {
	kind := secrets.NewOSRoot(secrets.OSRootID).Metadata()
	if _, err := m.boot.State.WatchFor(ctx, kind, state.WithEventTypes(state.Created, state.Updated)); err != nil {
		return err
	}
	root, err := safe.StateGetByID[*secrets.OSRoot](ctx, m.boot.State, secrets.OSRootID)
	if err != nil {
		return err
	}
	m.trust.mu.Lock()
	defer m.trust.mu.Unlock()
	m.trust.signers[m] = root.TypedSpec()
	for waiting := range m.trust.waiting {
		waiting.signed.Ring()
	}
	return nil
}

// Leave stops signing for others, and stops waiting for a certificate.
func (m *Member) Leave() {
	m.trust.mu.Lock()
	defer m.trust.mu.Unlock()
	delete(m.trust.signers, m)
	delete(m.trust.waiting, m)
}

// signer is a trustd that knows the node's token and that the node trusts, with its CA.
// Where there is none, the node is woken when there may be.
func (m *Member) signer(root *secrets.OSRootSpec) (*Member, *x509.PEMEncodedCertificateAndKey) {
	t := m.trust
	t.mu.Lock()
	defer t.mu.Unlock()
	for signer, spec := range t.signers {
		if spec.Token != root.Token {
			continue
		}
		for _, accepted := range root.AcceptedCAs {
			if bytes.Equal(accepted.Crt, spec.IssuingCA.Crt) {
				delete(t.waiting, m)
				return signer, spec.IssuingCA
			}
		}
	}
	t.waiting[m] = true
	return nil, nil
}

// AwaitCertificate returns when the API has its certificate: that of maintenance, or
// the one by the cluster's CA.
func (m *Member) AwaitCertificate(ctx context.Context, maintenance bool) error {
	_, err := m.boot.State.WatchFor(ctx, secrets.NewAPI().Metadata(), state.WithCondition(func(r resource.Resource) (bool, error) {
		api, is := r.(*secrets.API)
		return is && api.TypedSpec().SkipVerifyingClientCert == maintenance, nil
	}))
	return err
}

// Controller creates the certificate of the API: signed by the maintenance CA, by the node's own key of the machine CA, or by a trustd.
func (m *Member) Controller() controller.Controller {
	return &resources.Simulated{
		Real: "secrets.APIController",
		Reads: []controller.Input{
			resources.Reads(network.NamespaceName, network.StatusType),
			resources.Reads(configresource.NamespaceName, configresource.MachineTypeType),
			resources.Reads(secrets.NamespaceName, secrets.OSRootType),
			resources.Reads(secrets.NamespaceName, secrets.CertSANType),
			resources.Reads(secrets.NamespaceName, secrets.MaintenanceRootType),
		},
		Writes: []controller.Output{resources.Writes(secrets.APIType)},
		Wake:   m.signed,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			certificate, err := m.certificate(ctx, r)
			if state.IsNotFoundError(err) {
				return nil // it will exist sooner or later
			}
			if err != nil {
				return err
			}
			if certificate == nil {
				// The certificate of an earlier state is not served.
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

func (m *Member) certificate(ctx context.Context, r controller.Runtime) (*secrets.APICertsSpec, error) {
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
		server, err := m.issue(root.TypedSpec().CA, sans.TypedSpec(), stdx509.ExtKeyUsageServerAuth)
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
	signer, ca := m, root.TypedSpec().IssuingCA
	if kind.MachineType().IsControlPlane() {
		spec.Client, err = m.issue(ca, sans.TypedSpec(), stdx509.ExtKeyUsageClientAuth, x509.Organization(string(role.Impersonator)))
		if err != nil {
			return nil, err
		}
	} else if signer, ca = m.signer(root.TypedSpec()); ca == nil {
		return nil, nil
	}
	spec.Server, err = signer.issue(ca, sans.TypedSpec(), stdx509.ExtKeyUsageServerAuth)
	return spec, err
}

// issue signs as machined and trustd do, by the clock of the node. The certificate of a
// client has no names.
func (m *Member) issue(ca *x509.PEMEncodedCertificateAndKey, sans *secrets.CertSANSpec, usage stdx509.ExtKeyUsage, more ...x509.Option) (*x509.PEMEncodedCertificateAndKey, error) {
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(ca)
	if err != nil {
		return nil, fmt.Errorf("the CA of the API: %w", err)
	}
	options := append([]x509.Option{
		x509.CommonName(sans.FQDN),
		x509.NotBefore(m.boot.Now()),
		x509.NotAfter(m.boot.Now().Add(x509.DefaultCertificateValidityDuration)),
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
