import CoreDataPrimitives
import CoreDataZip
import Foundation

/// Raw DEFLATE, without zlib's header, as a store's cached model is compressed.
enum RawDeflate {
    static func compress(_ data: Data) throws(ModelFailure) -> Data {
        do { return try Deflate.compress(data) } catch { throw failure("cannot be compressed") }
    }

    /// - Parameter limit: the number of bytes at which the content is taken for an attack.
    static func decompress(_ data: Data, limit: Int = 1 << 28) throws(ModelFailure) -> Data {
        do { return try Deflate.decompress(data, limit: limit) } catch {
            throw failure("is not compressed as a cached model is")
        }
    }

    private static func failure(_ message: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, "the model \(message)")])
    }
}
