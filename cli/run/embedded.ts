import { fileURLToPath } from 'node:url'

/** Target file of the embedded reference server, without a base URL. */
export const referenceTargetFile = fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url))
