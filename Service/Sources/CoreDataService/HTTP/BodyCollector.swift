import Foundation
import Hummingbird

/// Reads the body of a request: bounded in length and in time.
enum BodyCollector {
    static func collect(
        _ request: Request, limit: Int, within time: Duration, what: String = "The body"
    ) async throws -> [UInt8] {
        if let stated = request.headers[.contentLength].flatMap({ Int($0) }), stated > limit {
            throw Problem.tooLarge(what, limit: limit)
        }
        let body = request.body
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var bytes: [UInt8] = []
                do {
                    for try await piece in body {
                        guard bytes.count + piece.readableBytes <= limit else {
                            throw Problem.tooLarge(what, limit: limit)
                        }
                        bytes += piece.readableBytesView
                    }
                } catch let error as Problem { throw error } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    // The parser refuses its framing, or the client has closed the connection.
                    throw Problem.body("\(what) did not arrive as a whole.")
                }
                return bytes
            }
            group.addTask {
                try await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else {
                throw Problem(
                    408, "timeout", "The body took too long",
                    "It has to arrive within \(time.components.seconds) seconds.")
            }
            return bytes
        }
    }
}
