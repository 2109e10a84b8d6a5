/**
 * Reads along with the bytes of an answer, up to the status line of the final one.
 *
 * undici takes an unasked `100 Continue` for a broken answer, though a client has to skip any 1xx (RFC 9110 §15.2);
 * so it is shown 102 instead, which it skips. The last digit is changed in place: no byte is held back or added.
 */
export interface AnswerWatch {
  /** Bytes seen since the last `begin`, after TLS. */
  readonly bytes: number
  /** The next byte is the first of a new answer. */
  begin(): void
  see(chunk: Uint8Array): void
}

const cr = 13
const lf = 10
const zero = 48
const one = 49
const two = 50

/** Places of the status digits in `HTTP/1.1 100`. */
const firstDigit = 9
const lastDigit = 11

export function watchAnswer(): AnswerWatch {
  let bytes = 0
  /** Place in the status line; past the last digit while the rest of an informational head passes by. */
  let place = 0
  let emptyLine = false
  let isFinal = false
  let isHundred = false

  function step(chunk: Uint8Array, at: number): void {
    const byte = chunk[at]
    if (place > lastDigit) {
      if (byte === lf && emptyLine) place = 0
      else if (byte === lf) emptyLine = true
      else if (byte !== cr) emptyLine = false
      return
    }
    if (place === 0 && (byte === cr || byte === lf)) return
    if (place === firstDigit && byte !== one) isFinal = true
    if (place === firstDigit + 1) isHundred = byte === zero
    if (place === lastDigit) {
      if (isHundred && byte === zero) chunk[at] = two
      emptyLine = false
    }
    place += 1
  }

  return {
    get bytes() {
      return bytes
    },
    begin() {
      bytes = 0
      place = 0
      isFinal = false
    },
    see(chunk) {
      bytes += chunk.length
      for (let at = 0; at < chunk.length && !isFinal; at += 1) step(chunk, at)
    },
  }
}
