# SPDX-License-Identifier: Apache-2.0
"""The schemas of docs/schema and the public validator that judges documents by them."""
import json
import os

from rig import ROOT

SCHEMAS = os.path.join(ROOT, 'docs', 'schema')


def validators():
    """Returns {name: function that lists what is wrong with a document}, or None without a validator."""
    try:
        import jsonschema
    except ImportError:
        return None
    schemas = {}
    for name in sorted(os.listdir(SCHEMAS)):
        with open(os.path.join(SCHEMAS, name)) as f:
            schemas[name] = json.load(f)
    kind = jsonschema.Draft202012Validator
    for schema in schemas.values():
        kind.check_schema(schema)
    try:
        from referencing import Registry, Resource
        more = {'registry': Registry().with_resources(
            (n, Resource.from_contents(s)) for n, s in schemas.items())}
        made = {n: kind(s, **more) for n, s in schemas.items()}
    except ImportError:  # an older one
        made = {n: kind(s, resolver=jsonschema.RefResolver('', s, store=dict(schemas)))
                for n, s in schemas.items()}
    return {n: (lambda doc, v=v: [e.message for e in v.iter_errors(doc)]) for n, v in made.items()}
