// A reference server in a process of its own, until its standard input ends. Prints its URL.
import { startReference } from '../dist/reference.js'

const { url } = await startReference(JSON.parse(process.argv[2] ?? '{}'))
process.stdout.write(`${url}\n`)
process.stdin.on('end', () => process.exit()).resume()
