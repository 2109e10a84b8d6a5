/** `1 must`, `2 musts`, `1 entry`, `2 entries` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
