// Renders the kustomization, reads each object strictly as its Kubernetes type (an unknown or
// misspelled field is an error), and asks Kubernetes' own rules whether each pod may run in a
// namespace of the Pod Security level "restricted". go run . ../kubernetes
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	disruption "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// The object of a kind, and its pods if it makes some.
func typed(kind string) (any, func() *core.PodTemplateSpec) {
	switch kind {
	case "Namespace":
		return &core.Namespace{}, nil
	case "ConfigMap":
		return &core.ConfigMap{}, nil
	case "Service":
		return &core.Service{}, nil
	case "NetworkPolicy":
		return &networking.NetworkPolicy{}, nil
	case "PodDisruptionBudget":
		return &disruption.PodDisruptionBudget{}, nil
	case "Deployment":
		object := &apps.Deployment{}
		return object, func() *core.PodTemplateSpec { return &object.Spec.Template }
	case "StatefulSet":
		object := &apps.StatefulSet{}
		return object, func() *core.PodTemplateSpec { return &object.Spec.Template }
	case "Job":
		object := &batch.Job{}
		return object, func() *core.PodTemplateSpec { return &object.Spec.Template }
	}
	return nil, nil
}

func one(text []byte) error {
	var head struct {
		Kind     string          `json:"kind"`
		Metadata meta.ObjectMeta `json:"metadata"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	name := head.Kind + " " + head.Metadata.Name + head.Metadata.GenerateName
	into, pods := typed(head.Kind)
	if into == nil {
		return fmt.Errorf("%s: this check does not know its kind", name)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if pods != nil {
		if err := restricted(pods()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	fmt.Println("ok", name)
	return nil
}

func restricted(pod *core.PodTemplateSpec) error {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		return err
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	results := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if !results.Allowed {
		return fmt.Errorf("not allowed at the level restricted: %s", results.ForbiddenDetail())
	}
	for _, container := range pod.Spec.Containers {
		if container.Resources.Limits.Memory().IsZero() || container.Resources.Limits.Cpu().IsZero() {
			return fmt.Errorf("container %s has no limits", container.Name)
		}
	}
	return nil
}

func check(folder string) error {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	for _, object := range rendered.Resources() {
		text, err := object.AsYAML()
		if err != nil {
			return err
		}
		if err := one(text); err != nil {
			return err
		}
	}
	// These are applied by themselves.
	for _, file := range []string{"coordinator.yaml", "probe.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		for _, part := range bytes.Split(text, []byte("\n---\n")) {
			if err := one(part); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: check FOLDER")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
