package talosapi

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	cryptotls "github.com/siderolabs/crypto/tls"
	"github.com/siderolabs/crypto/x509"

	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// maintenanceTLS is for a node without a config: its own CA, created at this boot, and clients of any identity.
func maintenanceTLS(addresses []netip.Addr) (*tls.Config, error) {
	authority, err := x509.NewSelfSignedCertificateAuthority()
	if err != nil {
		return nil, err
	}
	ips := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, addr := range addresses {
		ips = append(ips, addr.AsSlice())
	}
	pair, err := x509.NewKeyPair(authority,
		x509.IPAddresses(ips),
		x509.CommonName(constants.MaintenanceServiceCommonName),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}),
	)
	if err != nil {
		return nil, err
	}
	return cryptotls.New(
		cryptotls.WithClientAuthType(cryptotls.ServerOnly),
		cryptotls.WithKeypair(*pair.Certificate),
	)
}

// forClientsOnly accepts only certificates that were issued for clients.
func forClientsOnly(_ [][]byte, chains [][]*stdx509.Certificate) error {
	if len(chains) == 0 {
		return errors.New("no verified chains")
	}
	for _, cert := range chains[0] {
		if !cert.IsCA && !slices.Equal(cert.ExtKeyUsage, []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}) {
			return fmt.Errorf("certificate %q is missing the client auth extended key usage", cert.Subject)
		}
	}
	return nil
}
