package kubevip

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// settings are the simulated settings from kube-vip's environment: ARP, with one election for the control plane and one for Services.
type settings struct {
	node string
	// controlPlane and services define for which of them it announces addresses.
	controlPlane, services bool
	address                netip.Prefix
	link, servicesLink     string
	namespace              string // of the leases
	lease, servicesLease   string
	watched                string // namespace of the Services, or all
	classOnly, keepsStatus bool
	duration, renew, retry time.Duration
}

// read reads the settings like the real program, with its defaults.
func read(run cluster.Run) (settings, error) {
	env := environment(run.Env)
	s := settings{
		node:          env.text("vip_nodename", run.Pod.Spec.NodeName),
		link:          env.text("vip_interface", ""),
		namespace:     env.text("cp_namespace", "kube-system"),
		lease:         env.text("vip_leasename", "plndr-cp-lock"),
		servicesLease: env.text("svc_leasename", "plndr-svcs-lock"),
		watched:       env.text("svc_namespace", ""),
	}
	s.servicesLink = env.text("vip_servicesinterface", s.link)
	var faults []error
	flag := func(name string, otherwise bool) bool {
		value, err := env.flag(name, otherwise)
		faults = append(faults, err)
		return value
	}
	seconds := func(name string, otherwise int) time.Duration {
		value, err := strconv.Atoi(env.text(name, strconv.Itoa(otherwise)))
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
		return time.Duration(value) * time.Second
	}
	s.controlPlane, s.services = flag("cp_enable", false), flag("svc_enable", false)
	s.classOnly, s.keepsStatus = flag("lb_class_only", false), flag("disable_service_updates", false)
	s.duration, s.renew, s.retry = seconds("vip_leaseduration", 5), seconds("vip_renewdeadline", 3), seconds("vip_retryperiod", 1)
	if !flag("vip_arp", false) {
		faults = append(faults, errors.New("the lab simulates kube-vip only with vip_arp"))
	}
	if !flag("vip_leaderelection", false) {
		faults = append(faults, errors.New("the lab simulates kube-vip only with vip_leaderelection"))
	}
	if flag("svc_election", false) {
		faults = append(faults, errors.New("the lab simulates kube-vip only without svc_election"))
	}
	if !s.controlPlane && !s.services {
		faults = append(faults, errors.New("no features are enabled: set cp_enable or svc_enable"))
	}
	if s.controlPlane {
		address, err := netip.ParseAddr(env.text("address", env.text("vip_address", "")))
		if err != nil {
			faults = append(faults, fmt.Errorf("address: %w", err))
		} else {
			s.address = netip.PrefixFrom(address, address.BitLen())
		}
	}
	return s, errors.Join(faults...)
}

type environment map[string]string

func (e environment) text(name, otherwise string) string {
	if value := e[name]; value != "" {
		return value
	}
	return otherwise
}

func (e environment) flag(name string, otherwise bool) (bool, error) {
	value, err := strconv.ParseBool(e.text(name, strconv.FormatBool(otherwise)))
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}
