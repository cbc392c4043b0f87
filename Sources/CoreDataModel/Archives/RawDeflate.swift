import CoreDataPrimitives
import CoreDataZip
import Foundation

/// Raw DEFLATE, without zlib's header: the compression of a store's cached model.
enum RawDeflate {
    static func compress(_ data: Data) throws(ModelFailure) -> Data {
        do { return try Deflate.compress(data) } catch { throw failure("cannot be compressed") }
    }

    /// - Parameter limit: the maximum size of the content in bytes; larger content is treated as an attack.
    static func decompress(_ data: Data, limit: Int = 1 << 28) throws(ModelFailure) -> Data {
        do { return try Deflate.decompress(data, limit: limit) } catch {
            throw failure("is not compressed as a cached model is")
        }
    }

    private static func failure(_ message: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, "the model \(message)")])
    }
}
