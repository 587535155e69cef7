import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../types/input";
export declare namespace client {
    interface GetConfigurationClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetConfigurationClientConfigurationArgs {
        /**
         * The client CA certificate
         */
        caCertificate: pulumi.Input<string>;
        /**
         * The client certificate
         */
        clientCertificate: pulumi.Input<string>;
        /**
         * The client key
         */
        clientKey: pulumi.Input<string>;
    }
}
export declare namespace cluster {
    interface GetHealthClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetHealthClientConfigurationArgs {
        /**
         * The client CA certificate
         */
        caCertificate: pulumi.Input<string>;
        /**
         * The client certificate
         */
        clientCertificate: pulumi.Input<string>;
        /**
         * The client key
         */
        clientKey: pulumi.Input<string>;
    }
    interface GetHealthTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    interface GetHealthTimeoutsArgs {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: pulumi.Input<string | undefined>;
    }
    interface GetKubeconfigClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetKubeconfigClientConfigurationArgs {
        /**
         * The client CA certificate
         */
        caCertificate: pulumi.Input<string>;
        /**
         * The client certificate
         */
        clientCertificate: pulumi.Input<string>;
        /**
         * The client key
         */
        clientKey: pulumi.Input<string>;
    }
    interface GetKubeconfigTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    interface GetKubeconfigTimeoutsArgs {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: pulumi.Input<string | undefined>;
    }
    interface KubeconfigClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: pulumi.Input<string>;
        /**
         * The client certificate
         */
        clientCertificate: pulumi.Input<string>;
        /**
         * The client key
         */
        clientKey: pulumi.Input<string>;
    }
    interface KubeconfigKubernetesClientConfiguration {
        /**
         * The kubernetes CA certificate
         */
        caCertificate?: pulumi.Input<string | undefined>;
        /**
         * The kubernetes client certificate
         */
        clientCertificate?: pulumi.Input<string | undefined>;
        /**
         * The kubernetes client key
         */
        clientKey?: pulumi.Input<string | undefined>;
        /**
         * The kubernetes host
         */
        host?: pulumi.Input<string | undefined>;
    }
    interface KubeconfigTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: pulumi.Input<string | undefined>;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        update?: pulumi.Input<string | undefined>;
    }
}
export declare namespace imageFactory {
    interface GetExtensionsVersionsFilters {
        /**
         * The name of the extension to filter by.
         */
        names?: string[];
    }
    interface GetExtensionsVersionsFiltersArgs {
        /**
         * The name of the extension to filter by.
         */
        names?: pulumi.Input<pulumi.Input<string>[] | undefined>;
    }
    interface GetOverlaysVersionsFilters {
        /**
         * The name of the overlay to filter by.
         */
        name?: string;
    }
    interface GetOverlaysVersionsFiltersArgs {
        /**
         * The name of the overlay to filter by.
         */
        name?: pulumi.Input<string | undefined>;
    }
    interface GetVersionsFilters {
        /**
         * If set to true, only stable versions will be returned. If set to false, all versions will be returned.
         */
        stableVersionsOnly?: boolean;
    }
    interface GetVersionsFiltersArgs {
        /**
         * If set to true, only stable versions will be returned. If set to false, all versions will be returned.
         */
        stableVersionsOnly?: pulumi.Input<boolean | undefined>;
    }
}
export declare namespace machine {
    interface BootstrapTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: pulumi.Input<string | undefined>;
    }
    /**
     * A certificate and its key.
     */
    interface Certificate {
        cert: string;
        key: string;
    }
    /**
     * A certificate and its key.
     */
    interface CertificateArgs {
        cert: pulumi.Input<string>;
        key: pulumi.Input<string>;
    }
    /**
     * The authorities of the cluster.
     */
    interface Certificates {
        etcd: inputs.machine.Certificate;
        k8s: inputs.machine.Certificate;
        k8sAggregator: inputs.machine.Certificate;
        k8sServiceaccount: inputs.machine.Key;
        os: inputs.machine.Certificate;
    }
    /**
     * The authorities of the cluster.
     */
    interface CertificatesArgs {
        etcd: pulumi.Input<inputs.machine.CertificateArgs>;
        k8s: pulumi.Input<inputs.machine.CertificateArgs>;
        k8sAggregator: pulumi.Input<inputs.machine.CertificateArgs>;
        k8sServiceaccount: pulumi.Input<inputs.machine.KeyArgs>;
        os: pulumi.Input<inputs.machine.CertificateArgs>;
    }
    /**
     * How a client proves itself to the Talos API.
     */
    interface ClientConfiguration {
        caCertificate: pulumi.Input<string>;
        clientCertificate: pulumi.Input<string>;
        clientKey: pulumi.Input<string>;
    }
    /**
     * The cluster's identity.
     */
    interface Cluster {
        id: string;
        secret: string;
    }
    /**
     * The cluster's identity.
     */
    interface ClusterArgs {
        id: pulumi.Input<string>;
        secret: pulumi.Input<string>;
    }
    interface ConfigurationApplyOnDestroy {
        /**
         * Graceful indicates whether node should leave etcd before the upgrade, it also enforces etcd checks before leaving. Default true
         */
        graceful?: pulumi.Input<boolean | undefined>;
        /**
         * Reboot indicates whether node should reboot or halt after resetting. Default false
         */
        reboot?: pulumi.Input<boolean | undefined>;
        /**
         * Reset the machine to the initial state (STATE and EPHEMERAL will be wiped). Default false
         */
        reset?: pulumi.Input<boolean | undefined>;
    }
    interface GetDisksClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetDisksClientConfigurationArgs {
        /**
         * The client CA certificate
         */
        caCertificate: pulumi.Input<string>;
        /**
         * The client certificate
         */
        clientCertificate: pulumi.Input<string>;
        /**
         * The client key
         */
        clientKey: pulumi.Input<string>;
    }
    interface GetDisksFilters {
        /**
         * Filter disks by bus path
         */
        busPath?: string;
        /**
         * Filter disks by modalias
         */
        modalias?: string;
        /**
         * Filter disks by model
         */
        model?: string;
        /**
         * Filter disks by name
         */
        name?: string;
        /**
         * Filter disks by serial number
         */
        serial?: string;
        /**
         * Filter disks by size
         */
        size?: string;
        /**
         * Filter disks by type
         */
        type?: string;
        /**
         * Filter disks by uuid
         */
        uuid?: string;
        /**
         * Filter disks by wwid
         */
        wwid?: string;
    }
    interface GetDisksFiltersArgs {
        /**
         * Filter disks by bus path
         */
        busPath?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by modalias
         */
        modalias?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by model
         */
        model?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by name
         */
        name?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by serial number
         */
        serial?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by size
         */
        size?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by type
         */
        type?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by uuid
         */
        uuid?: pulumi.Input<string | undefined>;
        /**
         * Filter disks by wwid
         */
        wwid?: pulumi.Input<string | undefined>;
    }
    interface GetDisksTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    interface GetDisksTimeoutsArgs {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: pulumi.Input<string | undefined>;
    }
    /**
     * A private key.
     */
    interface Key {
        key: string;
    }
    /**
     * A private key.
     */
    interface KeyArgs {
        key: pulumi.Input<string>;
    }
    /**
     * What encrypts and bootstraps Kubernetes.
     */
    interface KubernetesSecrets {
        aescbcEncryptionSecret?: string;
        bootstrapToken: string;
        secretboxEncryptionSecret: string;
    }
    /**
     * What encrypts and bootstraps Kubernetes.
     */
    interface KubernetesSecretsArgs {
        aescbcEncryptionSecret?: pulumi.Input<string | undefined>;
        bootstrapToken: pulumi.Input<string>;
        secretboxEncryptionSecret: pulumi.Input<string>;
    }
    /**
     * Everything that makes a machine a member of the cluster.
     */
    interface MachineSecrets {
        certs: inputs.machine.Certificates;
        cluster: inputs.machine.Cluster;
        secrets: inputs.machine.KubernetesSecrets;
        trustdinfo: inputs.machine.TrustdInfo;
    }
    /**
     * Everything that makes a machine a member of the cluster.
     */
    interface MachineSecretsArgs {
        certs: pulumi.Input<inputs.machine.CertificatesArgs>;
        cluster: pulumi.Input<inputs.machine.ClusterArgs>;
        secrets: pulumi.Input<inputs.machine.KubernetesSecretsArgs>;
        trustdinfo: pulumi.Input<inputs.machine.TrustdInfoArgs>;
    }
    interface Timeout {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: pulumi.Input<string | undefined>;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Setting a timeout for a Delete operation is only applicable if changes are saved into state before the destroy operation occurs.
         */
        delete?: pulumi.Input<string | undefined>;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        update?: pulumi.Input<string | undefined>;
    }
    /**
     * How machines ask for certificates.
     */
    interface TrustdInfo {
        token: string;
    }
    /**
     * How machines ask for certificates.
     */
    interface TrustdInfoArgs {
        token: pulumi.Input<string>;
    }
}
