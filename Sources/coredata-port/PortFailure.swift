/// What stops the program: one message for people.
struct PortFailure: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Why the program cannot begin: it was called wrongly.
struct UsageFailure: Error {}
