"""The built-in protocols, one YAML file each."""
