// Command controlplane is a whole Kubernetes control plane in one file: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler, and kubectl. One
// binary because they share most of their code: together they are a third of
// their size apart, and share its pages in memory as well.
//
// It runs the program it is called as, through a link or a chosen argv[0]; under
// any other name the first argument says which one:
//
//	controlplane kube-apiserver --etcd-servers=...
//
// Every program is the published one: only main, a few lines each, is ours.
//
// With KUBERNETES_VERSION=v1.35.4 the components run as that version: they report it, and have its feature gates and APIs. Kubernetes' own code does that
// for its emulated versions; what the later release no longer has is missing.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	_ "time/tzdata" // CronJob time zones, as in the published mains
	_ "unsafe"      // for go:linkname

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Each program builds its command only when it is chosen: their constructors
// register flags and feature gates in the same process-wide tables.
var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { runComponent(apiserver.NewAPIServerCommand) },
	"kube-controller-manager": func() { runComponent(controllermanager.NewControllerManagerCommand) },
	"kube-scheduler":          func() { runComponent(func() *cobra.Command { return scheduler.NewSchedulerCommand() }) },
	"kubectl":                 runKubectl,
}

func main() {
	if run, ok := programs[filepath.Base(os.Args[0])]; ok {
		run()
		return
	}
	if len(os.Args) > 1 {
		if run, ok := programs[os.Args[1]]; ok {
			os.Args = os.Args[1:] // the programs read os.Args themselves
			run()
			return
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
	fmt.Fprintf(os.Stderr, "usage: %s PROGRAM [FLAGS], where PROGRAM is one of: %s\n", os.Args[0], names)
	os.Exit(2)
}

func runComponent(command func() *cobra.Command) {
	if version := os.Getenv("KUBERNETES_VERSION"); version != "" {
		if err := runAs(version); err != nil {
			fmt.Fprintf(os.Stderr, "KUBERNETES_VERSION=%s: %v\n", version, err)
			os.Exit(2)
		}
	}
	os.Exit(cli.Run(command()))
}

// reportedVersion is what every component reports as its version. It can be set by the linker, or here before a command is made.
//
//go:linkname reportedVersion k8s.io/component-base/version.dynamicGitVersion
var reportedVersion atomic.Value

// runAs makes the components run as another version. Feature gates and APIs follow the version in the registry.
func runAs(version string) error {
	if _, err := utilversion.ParseSemantic(version); err != nil {
		return err
	}
	reportedVersion.Store(version)
	registry := compatibility.DefaultComponentGlobalsRegistry
	registry.Reset()
	return registry.Register(basecompatibility.DefaultKubeComponent, compatibility.DefaultBuildEffectiveVersion(), feature.DefaultMutableFeatureGate)
}

func runKubectl() {
	dropComponentFlags()
	// Flags are parsed later, but building the command already logs.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

// The control plane's packages put a --version of their own on the global flag
// set as soon as they are imported, and cobra gives every command what it finds
// there. kwok would refuse every command line, because its --version has another
// type, and kubectl would list a flag that it does not have.
func dropComponentFlags() {
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ExitOnError)
}
