package talosapi

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

func TestApplyInMaintenance(t *testing.T) {
	l := newLab(t)
	good := l.config(machine.TypeControlPlane)
	cases := map[string]struct {
		config []byte
		mode   machineapi.ApplyConfigurationRequest_Mode // auto where it is zero
		dryRun bool
		// By version: what is refused and what is answered.
		code112, code113 codes.Code
		text112, text113 string
		asked112         []string
		asked113         []string
	}{
		"good": {
			config:   good,
			asked112: []string{"config now=true revert=0s"}, asked113: []string{"config now=true revert=0s"},
			text113: "Applied configuration without a reboot",
		},
		"try": {
			config: good, mode: machineapi.ApplyConfigurationRequest_TRY,
			asked112: []string{"config now=true revert=0s"}, asked113: []string{"config now=true revert=1m0s"},
			text113: "Applied configuration without a reboot",
		},
		"dry run": {
			config: good, dryRun: true,
			text112: "Dry run summary:\nNode is running in maintenance mode and does not have a config yet.",
			text113: "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:",
		},
		"staged": {
			config: good, mode: machineapi.ApplyConfigurationRequest_STAGED,
			code112: codes.Unimplemented, text112: "apply configuration --mode='staged' is not supported in maintenance mode",
			text113: "Staged configuration to be applied after the next reboot", asked113: []string{"config now=false revert=0s"},
		},
		"no-reboot": {
			config: good, mode: machineapi.ApplyConfigurationRequest_NO_REBOOT,
			code112: codes.Unimplemented, text112: "apply configuration --mode='no-reboot' is not supported in maintenance mode",
			text113: "Applied configuration without a reboot", asked113: []string{"config now=true revert=0s"},
		},
		"unknown key": {
			config:  append(bytes.Clone(good), []byte("---\napiVersion: v1alpha1\nkind: KubeSpanEndpointsConfig\nnope: 1\n")...),
			code112: codes.Unknown, text112: "failed to parse config: error decoding document",
			code113: codes.InvalidArgument, text113: "error decoding document",
		},
		"no config": {
			config:  []byte("foo: bar"),
			code112: codes.Unknown, text112: "failed to parse config: ", code113: codes.InvalidArgument, text113: "missing kind",
		},
		"no install disk": {
			config:  bytes.Replace(good, []byte("disk: /dev/sda"), nil, 1),
			code112: codes.InvalidArgument, text112: "configuration validation failed: ", code113: codes.InvalidArgument, text113: "either install disk or diskSelector should be defined",
		},
		"disk that is not there": {
			config:  bytes.Replace(good, []byte("disk: /dev/sda"), []byte("diskSelector:\n            model: NOPE"), 1),
			code112: codes.InvalidArgument, text112: "runtime configuration validation failed: ", code113: codes.InvalidArgument, text113: "no disks matched the expression: glob(\"NOPE\", disk.model)",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			mode := c.mode
			if mode == machineapi.ApplyConfigurationRequest_REBOOT {
				mode = machineapi.ApplyConfigurationRequest_AUTO
			}
			for version, want := range map[string]struct {
				code  codes.Code
				text  string
				asked []string
			}{
				"1.12.6": {c.code112, c.text112, c.asked112},
				"1.13.8": {c.code113, c.text113, c.asked113},
			} {
				f := l.maintenance(version)
				response, err := l.insecure(f).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: c.config, Mode: mode, DryRun: c.dryRun})
				require.Equal(t, want.code, status.Code(err), "%s: %v", version, err)
				if err != nil {
					require.Contains(t, status.Convert(err).Message(), want.text, version)
				} else {
					require.Contains(t, response.GetMessages()[0].GetModeDetails(), want.text, version)
				}
				require.Equal(t, want.asked, f.wasAsked(), version)
			}
		})
	}
}

func TestApplyConfigured(t *testing.T) {
	l := newLab(t)
	good := l.config(machine.TypeWorker)
	sysctl := bytes.Replace(good, []byte("machine:\n"), []byte("machine:\n    sysctls:\n        net.ipv4.ip_forward: \"1\"\n"), 1)
	disks := bytes.Replace(good, []byte("machine:\n"), []byte("machine:\n    disks:\n        - device: /dev/sdb\n          partitions:\n            - mountpoint: /var/data\n"), 1)
	type request = machineapi.ApplyConfigurationRequest
	const auto = machineapi.ApplyConfigurationRequest_AUTO
	cases := map[string]struct {
		request *request
		code    codes.Code
		text    string
		asked   []string
	}{
		"the same":         {&request{Data: good, Mode: auto}, codes.OK, "Applied configuration without a reboot", []string{"config now=true revert=0s"}},
		"the same, dry":    {&request{Data: good, Mode: auto, DryRun: true}, codes.OK, "No changes.", nil},
		"a sysctl":         {&request{Data: sysctl, Mode: auto}, codes.OK, "Applied configuration without a reboot", []string{"config now=true revert=0s"}},
		"a sysctl, dry":    {&request{Data: sysctl, Mode: auto, DryRun: true}, codes.OK, "+    sysctls:", nil},
		"a sysctl, staged": {&request{Data: sysctl, Mode: machineapi.ApplyConfigurationRequest_STAGED}, codes.OK, "Staged configuration to be applied after the next reboot", []string{"config now=false revert=0s"}},
		"a sysctl, tried":  {&request{Data: sysctl, Mode: machineapi.ApplyConfigurationRequest_TRY}, codes.OK, "automatically reverted back in 1m0s", []string{"config now=true revert=1m0s"}},
		"disks":            {&request{Data: disks, Mode: auto}, codes.OK, "Applied configuration with a reboot: this config change can't be applied in immediate mode\ndiff:", []string{"config now=false revert=0s", "reboot force=false"}},
		"disks, reboot":    {&request{Data: disks}, codes.OK, "Applied configuration with a reboot", []string{"config now=false revert=0s", "reboot force=false"}},
		"disks, no reboot": {&request{Data: disks, Mode: machineapi.ApplyConfigurationRequest_NO_REBOOT}, codes.InvalidArgument, "this config change can't be applied in immediate mode", nil},
		"disks, tried":     {&request{Data: disks, Mode: machineapi.ApplyConfigurationRequest_TRY}, codes.InvalidArgument, "this config change can't be applied in immediate mode", nil},
		"no main document": {&request{Data: []byte("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n")}, codes.InvalidArgument, "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?", nil},
		"unknown key":      {&request{Data: append(bytes.Clone(good), "nope: 1\n"...)}, codes.InvalidArgument, "unknown keys found during decoding", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"1.12.6", "1.13.8"} {
				f := l.configured(version, machine.TypeWorker)
				response, err := l.client(f, role.Admin).ApplyConfiguration(within(t), c.request)
				require.Equal(t, c.code, status.Code(err), "%s: %v", version, err)
				if err != nil {
					require.Contains(t, status.Convert(err).Message(), c.text)
				} else {
					require.Contains(t, response.GetMessages()[0].GetModeDetails(), c.text)
				}
				require.Equal(t, c.asked, f.wasAsked())
			}
		})
	}
}

// The answers are those of ApplyConfiguration in internal/app/machined/internal/server/v1alpha1 of 1.14.1.
func TestNoConfigRebootsTalos114(t *testing.T) {
	l := newLab(t)
	good := l.config(machine.TypeWorker)
	disks := bytes.Replace(good, []byte("machine:\n"), []byte("machine:\n    disks:\n        - device: /dev/sdb\n          partitions:\n            - mountpoint: /var/data\n"), 1)
	for name, c := range map[string]struct {
		mode  machineapi.ApplyConfigurationRequest_Mode
		asked []string
	}{
		"auto":      {machineapi.ApplyConfigurationRequest_AUTO, []string{"config now=true revert=0s"}},
		"no reboot": {machineapi.ApplyConfigurationRequest_NO_REBOOT, []string{"config now=true revert=0s"}},
		"tried":     {machineapi.ApplyConfigurationRequest_TRY, []string{"config now=true revert=1m0s"}},
	} {
		f := l.configured("1.14.1", machine.TypeWorker)
		response, err := l.client(f, role.Admin).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: disks, Mode: c.mode})
		require.NoError(t, err, name)
		require.Contains(t, response.GetMessages()[0].GetModeDetails(), "Applied configuration without a reboot", name)
		require.Equal(t, c.asked, f.wasAsked(), name)
	}
	f := l.configured("1.14.1", machine.TypeWorker)
	_, err := l.client(f, role.Admin).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: disks, Mode: machineapi.ApplyConfigurationRequest_REBOOT})
	require.Equal(t, codes.Unimplemented, status.Code(err))
	require.Empty(t, f.wasAsked())

	f = l.maintenance("1.14.1")
	_, err = l.insecure(f).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: good, Mode: machineapi.ApplyConfigurationRequest_REBOOT})
	require.NoError(t, err)
	require.Equal(t, []string{"config now=true revert=0s"}, f.wasAsked())
}

func TestApplyAfterReboot(t *testing.T) {
	l := newLab(t)
	good := l.config(machine.TypeWorker)
	for version, want := range map[string]codes.Code{"1.12.6": codes.OK, "1.13.8": codes.FailedPrecondition} {
		c := l.client(l.configured(version, machine.TypeWorker), role.Admin)
		_, err := c.ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: good, Mode: machineapi.ApplyConfigurationRequest_REBOOT})
		require.NoError(t, err)
		_, err = c.ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: good})
		require.Equal(t, want, status.Code(err), "%s: %v", version, err)
	}
}

func TestApplyKnowsWhichKubernetesFits(t *testing.T) {
	l := newLab(t)
	newer := bytes.ReplaceAll(l.config(machine.TypeControlPlane), []byte("v"+kubernetes), []byte("v1.36.4"))
	request := &machineapi.ApplyConfigurationRequest{Data: newer, Mode: machineapi.ApplyConfigurationRequest_AUTO, DryRun: true}
	for name, c := range map[string]struct {
		version string
		text    string
	}{
		"old": {"1.12.6", "kube-apiserver image is not valid: version of Kubernetes 1.36.4 is too new to be used with Talos 1.12.6"},
		"new": {"1.13.8", ""},
	} {
		_, configured := l.client(l.configured(c.version, machine.TypeControlPlane), role.Admin).ApplyConfiguration(within(t), request)
		_, maintenance := l.insecure(l.maintenance(c.version)).ApplyConfiguration(within(t), request)
		for _, err := range []error{configured, maintenance} {
			if c.text == "" {
				require.NoError(t, err, name)
			} else {
				require.Equal(t, codes.InvalidArgument, status.Code(err), name)
				require.ErrorContains(t, err, c.text, name)
			}
		}
	}
}

func TestApplyOneAtATime(t *testing.T) {
	l := newLab(t)
	request := &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker), Mode: machineapi.ApplyConfigurationRequest_AUTO}
	for version, want := range map[string]codes.Code{"1.12.6": codes.OK, "1.13.8": codes.FailedPrecondition} {
		f := l.configured(version, machine.TypeWorker)
		c := l.client(f, role.Admin)
		entered, leave := make(chan struct{}), make(chan struct{})
		var once sync.Once
		f.onConfig = func() {
			once.Do(func() {
				close(entered)
				<-leave
			})
		}
		first, second := make(chan error), make(chan error)
		go func() {
			_, err := c.ApplyConfiguration(within(t), request)
			first <- err
		}()
		<-entered
		go func() {
			_, err := c.ApplyConfiguration(within(t), request)
			second <- err
		}()
		if want != codes.OK {
			// It is refused while the first is at it.
			err := <-second
			require.Equal(t, want, status.Code(err))
			require.ErrorContains(t, err, "another apply configuration is already in progress")
			close(leave)
		} else {
			close(leave)
			require.NoError(t, <-second)
		}
		require.NoError(t, <-first)
	}
}

func TestApplyAsksTheVersionsValidator(t *testing.T) {
	judged := map[string]error{
		"unreadable": &Unreadable{errors.New("unknown key")},
		"invalid":    errors.New("bad value"),
	}
	for name, c := range map[string]struct {
		configured bool
		code       codes.Code
		text       string
	}{
		"unreadable": {false, codes.Unknown, "failed to parse config: unknown key"},
		"invalid":    {false, codes.InvalidArgument, "configuration validation failed: bad value"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := ""
			l := newLab(t, func(o *Options) {
				o.Validate = func(version string, _ []byte, mode string, _ bool) error {
					asked = version + " " + mode
					return judged[name]
				}
			})
			f := l.maintenance("1.12.6")
			_, err := l.insecure(f).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker)})
			require.Equal(t, c.code, status.Code(err))
			require.Equal(t, c.text, status.Convert(err).Message())
			require.Equal(t, "1.12.6 metal", asked)

			f = l.configured("1.12.6", machine.TypeWorker)
			_, err = l.client(f, role.Admin).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker)})
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.Equal(t, judged[name].Error(), status.Convert(err).Message())
		})
	}
}
