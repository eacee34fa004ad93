/**
 * DescribeConfigs: configuration of topics (resource type 2) and brokers (4), with synonyms from
 * version 1 on (KIP-226).
 */
import { api, between, since, struct } from '../protocol/schema.js'
import { array, boolean, int8, int16, int32, nullable, string } from '../protocol/types.js'

export const describeConfigs = api({
  key: 32,
  name: 'DescribeConfigs',
  versions: [0, 4],
  flexible: 4,
  request: {
    resources: array(
      struct({
        resourceType: int8,
        resourceName: string,
        configurationKeys: nullable(array(string)),
      }),
    ),
    includeSynonyms: since(1, boolean, false),
    includeDocumentation: since(3, boolean, false),
  },
  response: {
    throttleTimeMs: int32,
    results: array(
      struct({
        errorCode: int16,
        errorMessage: nullable(string),
        resourceType: int8,
        resourceName: string,
        configs: array(
          struct({
            name: string,
            value: nullable(string),
            readOnly: boolean,
            isDefault: between(0, 0, boolean),
            configSource: since(1, int8, -1),
            isSensitive: boolean,
            synonyms: since(
              1,
              array(struct({ name: string, value: nullable(string), source: int8 })),
            ),
            configType: since(3, int8, 0),
            documentation: since(3, nullable(string)),
          }),
        ),
      }),
    ),
  },
})
