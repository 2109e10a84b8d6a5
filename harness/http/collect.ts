/** Gathers bytes up to a limit, in one buffer: a body that comes byte by byte takes no more memory than one that comes whole. */
export interface Collector {
  readonly length: number
  /** Takes what still fits; false if the chunk held more than that. */
  add(chunk: Uint8Array): boolean
  bytes(): Uint8Array
}

/** From this size on a buffer grows in place, in bytes. */
const large = 64 * 1024

/** As Node 20 has it (ES2024). */
interface Growing extends ArrayBuffer {
  resize(length: number): void
}
const GrowingBuffer = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => Growing

export function collect(limit: number): Collector {
  let buffer = new Uint8Array(0)
  let growing: Growing | undefined
  let length = 0

  function reserve(wanted: number): void {
    if (wanted <= buffer.length) return
    const size = buffer.length === 0 ? wanted : Math.min(limit, Math.max(wanted, buffer.length * 2))
    if (growing) {
      growing.resize(size)
      buffer = new Uint8Array(growing, 0, size)
      return
    }
    // Pages of its own, which go back to the system when it is collected: those of the allocator are kept in pieces.
    const from = buffer
    if (size > large) growing = new GrowingBuffer(size, { maxByteLength: Math.max(limit, size) })
    buffer = growing ? new Uint8Array(growing, 0, size) : new Uint8Array(size)
    buffer.set(from.subarray(0, length))
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

/**
 * Gives the memory of a large body back at once: nobody reads it any more. Waiting for its collection, eight bodies of 8 MB
 * become a hundred MB and more.
 */
export function letGo({ buffer }: Uint8Array): void {
  const growing = buffer as Growing & { readonly resizable?: boolean }
  if (growing.resizable) growing.resize(0)
}
