/** Gathers bytes up to a limit, in one buffer: a body that comes byte by byte takes no more memory than one that comes whole. */
export interface Collector {
  readonly length: number
  /** Takes what still fits; false where the chunk held more than that. */
  add(chunk: Uint8Array): boolean
  bytes(): Uint8Array
}

export function collect(limit: number): Collector {
  let buffer = new Uint8Array(0)
  let length = 0

  function reserve(wanted: number): void {
    if (wanted <= buffer.length) return
    const grown = new Uint8Array(buffer.length === 0 ? wanted : Math.min(limit, Math.max(wanted, buffer.length * 2)))
    grown.set(buffer.subarray(0, length))
    buffer = grown
  }

  return {
    get length() {
      return length
    },
    add(chunk) {
      const fitting = chunk.length <= limit - length ? chunk : chunk.subarray(0, limit - length)
      reserve(length + fitting.length)
      buffer.set(fitting, length)
      length += fitting.length
      return fitting === chunk
    },
    bytes: () => buffer.subarray(0, length),
  }
}
