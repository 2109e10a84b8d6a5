import type { Answer } from './answer.ts'

/** What a web server shows where nothing is: a page, and no envelope. */
export function page(status: number): Answer {
  return { status, text: { type: 'text/html', value: '<!doctype html><title>Not found</title>' } }
}
