import { parseDateTime } from './date-time.ts'
import { isUuid } from './uuid.ts'

/** The formats of the schemas. Those of ajv-formats also take `urn:uuid:` and a blank in place of T. */
export const formats = {
  uuid: isUuid,
  'date-time': (text: string): boolean => parseDateTime(text) !== undefined,
}
