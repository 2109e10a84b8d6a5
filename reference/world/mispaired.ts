import { Ending } from './answer.ts'
import { envelope } from './envelope.ts'

/** Ends with a type that the status may not carry; its key is none of §7.1, so that the key is not wrong as well. */
export function mispaired(status: number, tpe: string): never {
  throw new Ending(envelope({ status, tpe, key: 'fail.other' }))
}
