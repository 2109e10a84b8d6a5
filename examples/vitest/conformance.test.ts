import { describeConformance } from 'ai-content-conformance/vitest'

// Without a target: the one that server.ts provides.
describeConformance()
