package machineconfig

import (
	"fmt"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// Foreign is another cluster, to which a node may belong because of a fault.
type Foreign struct {
	once  sync.Once
	bytes []byte
	err   error
}

// config returns that of a control plane of the other cluster: such a node signs its own certificate, and waits for a bootstrap that nobody in the lab can
// request.
func (f *Foreign) config() ([]byte, error) {
	f.once.Do(func() {
		f.bytes, f.err = generateForeign()
		if f.err != nil {
			f.err = fmt.Errorf("the config of a foreign node: %w", f.err)
		}
	})
	return f.bytes, f.err
}

func generateForeign() ([]byte, error) {
	contract := config.TalosVersion1_12
	// Its account key is never used; that of a later version is RSA, and takes seconds to generate.
	bundle, err := secrets.NewBundle(secrets.NewFixedClock(time.Now()), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	input, err := generate.NewInput("another", "https://192.0.2.254:6443", constants.DefaultKubernetesVersion,
		generate.WithSecretsBundle(bundle), generate.WithVersionContract(contract))
	if err != nil {
		return nil, err
	}
	provider, err := input.Config(machine.TypeControlPlane)
	if err != nil {
		return nil, err
	}
	return provider.Bytes()
}
