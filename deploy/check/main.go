// Renders the kustomization and reads each object strictly as its Kubernetes type: an unknown or
// misspelled field is an error. go run . ../kubernetes
package main

import (
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func typed(kind string) any {
	switch kind {
	case "Namespace":
		return &core.Namespace{}
	case "ConfigMap":
		return &core.ConfigMap{}
	case "Service":
		return &core.Service{}
	case "Deployment":
		return &apps.Deployment{}
	case "Job":
		return &batch.Job{}
	}
	return nil
}

func check(folder string) error {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	for _, object := range rendered.Resources() {
		name := object.GetKind() + " " + object.GetName()
		text, err := object.AsYAML()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		into := typed(object.GetKind())
		if into == nil {
			return fmt.Errorf("%s: this check does not know its kind", name)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println("ok", name)
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
