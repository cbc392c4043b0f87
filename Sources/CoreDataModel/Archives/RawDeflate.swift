import CZlib
import CoreDataPrimitives
import Foundation

/// Raw DEFLATE, without zlib's header, as a store's cached model is compressed.
enum RawDeflate {
    private static let windowBits: Int32 = -15

    static func compress(_ data: Data) throws(ModelFailure) -> Data {
        var stream = z_stream()
        let opened = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard opened == Z_OK else { throw failure("cannot be compressed") }
        defer { deflateEnd(&stream) }
        return try run(&stream, data, limit: Int.max, message: "cannot be compressed") { deflate(&$0, Z_FINISH) }
    }

    /// - Parameter limit: the number of bytes at which the content is taken for an attack.
    static func decompress(_ data: Data, limit: Int = 1 << 28) throws(ModelFailure) -> Data {
        var stream = z_stream()
        let opened = inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard opened == Z_OK else { throw failure("cannot be decompressed") }
        defer { inflateEnd(&stream) }
        return try run(&stream, data, limit: limit, message: "is not compressed as a cached model is") {
            inflate(&$0, Z_NO_FLUSH)
        }
    }

    private static func run(
        _ stream: inout z_stream, _ data: Data, limit: Int, message: String, _ step: (inout z_stream) -> Int32
    ) throws(ModelFailure) -> Data {
        var input = Array(data)
        var output = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let succeeded = input.withUnsafeMutableBufferPointer { input -> Bool in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let (status, produced) = buffer.withUnsafeMutableBufferPointer { buffer -> (Int32, Int) in
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(buffer.count)
                    let status = step(&stream)
                    return (status, buffer.count - Int(stream.avail_out))
                }
                output.append(contentsOf: buffer[..<produced])
                if status == Z_STREAM_END { return true }
                if status != Z_OK || (produced == 0 && stream.avail_in == 0) || output.count > limit { return false }
            }
        }
        guard succeeded else { throw failure(message) }
        return output
    }

    private static func failure(_ message: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, "the model \(message)")])
    }
}
