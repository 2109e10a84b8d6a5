import { parseDateTime } from './date-time.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The formats of the schemas. Those of ajv-formats also take `urn:uuid:` and a blank in place of T. */
export const formats = {
  uuid: (text: string): boolean => uuid.test(text),
  'date-time': (text: string): boolean => parseDateTime(text) !== undefined,
}
