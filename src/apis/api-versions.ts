/**
 * ApiVersions: what a broker speaks. The answer's header never has tags, and a version that is too
 * new is answered in the form of version 0 (KIP-511).
 */
import { api, since, struct, tagged } from '../protocol/schema.js'
import { array, boolean, int16, int32, int64, string } from '../protocol/types.js'

export const apiVersions = api({
  key: 18,
  name: 'ApiVersions',
  versions: [0, 4],
  flexible: 3,
  request: {
    clientSoftwareName: since(3, string),
    clientSoftwareVersion: since(3, string),
  },
  response: {
    errorCode: int16,
    apiKeys: array(struct({ apiKey: int16, minVersion: int16, maxVersion: int16 })),
    throttleTimeMs: since(1, int32),
    supportedFeatures: tagged(
      0,
      3,
      array(struct({ name: string, minVersion: int16, maxVersion: int16 })),
    ),
    finalizedFeaturesEpoch: tagged(1, 3, int64, -1),
    finalizedFeatures: tagged(
      2,
      3,
      array(struct({ name: string, maxVersionLevel: int16, minVersionLevel: int16 })),
    ),
    zkMigrationReady: tagged(3, 3, boolean, false),
  },
})
