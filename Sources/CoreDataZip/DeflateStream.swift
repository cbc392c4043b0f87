import CZlib
import Foundation

/// Compresses a stream of bytes to raw DEFLATE, without zlib's header, as in zip archives and stores' cached models.
package final class DeflateStream {
    // Allocated on the heap at a fixed address: zlib's state points back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    package init() throws(ZipFailure) {
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw ZipFailure(.file, "zlib cannot compress (\(status))") }
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Compresses the bytes and calls `output` with the result, several times or not at all.
    ///
    /// - Parameter isLast: whether these are the last bytes.
    package func add(_ bytes: [UInt8], isLast: Bool, _ output: (ArraySlice<UInt8>) throws -> Void) throws {
        var input = bytes
        var start = 0
        while true {
            let (status, produced) = input.withUnsafeMutableBufferPointer { input -> (Int32, Int) in
                stream.pointee.next_in = input.baseAddress.map { $0 + start }
                stream.pointee.avail_in = UInt32(input.count - start)
                return buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return (status, buffer.count - Int(stream.pointee.avail_out))
                }
            }
            start = input.count - Int(stream.pointee.avail_in)
            if produced > 0 { try output(buffer[..<produced]) }
            if status == Z_STREAM_END { return }
            guard status == Z_OK || status == Z_BUF_ERROR else {
                throw ZipFailure(.file, "zlib cannot compress (\(status))")
            }
            if !isLast, start == input.count, produced < buffer.count { return }
        }
    }
}

/// Decompresses a stream of raw DEFLATE.
package final class InflateStream {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Whether the end of the compressed data was reached.
    package private(set) var isAtEnd = false

    package init() throws(ZipFailure) {
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw ZipFailure(.file, "zlib cannot decompress (\(status))") }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decompresses the bytes and calls `output` with at most 64 KB at a time, so that it can stop if the output is too
    /// large.
    ///
    /// - Returns: the number of bytes after the end of the compressed data.
    @discardableResult
    package func add(_ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void) throws -> Int {
        var input = bytes
        var start = 0
        while !isAtEnd {
            let (status, produced) = input.withUnsafeMutableBufferPointer { input -> (Int32, Int) in
                stream.pointee.next_in = input.baseAddress.map { $0 + start }
                stream.pointee.avail_in = UInt32(input.count - start)
                return buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = inflate(stream, Z_NO_FLUSH)
                    return (status, buffer.count - Int(stream.pointee.avail_out))
                }
            }
            start = input.count - Int(stream.pointee.avail_in)
            if produced > 0 { try output(buffer[..<produced]) }
            if status == Z_STREAM_END { isAtEnd = true }
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                throw ZipFailure(.damaged, "the compressed bytes are damaged")
            }
            if produced < buffer.count { break }
        }
        return input.count - start
    }
}

/// The checksum of zip archives.
package struct CRC32: Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { bytes in
            value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), bytes.baseAddress, bytes.count))
        }
    }
}

/// Compresses and decompresses data in one call.
package enum Deflate {
    package static func compress(_ data: Data) throws -> Data {
        var result = Data()
        try DeflateStream().add(Array(data), isLast: true) { result.append(contentsOf: $0) }
        return result
    }

    /// - Parameter limit: the maximum size of the content in bytes; larger content is treated as an attack.
    package static func decompress(_ data: Data, limit: Int) throws -> Data {
        var result = Data()
        let stream = try InflateStream()
        try stream.add(Array(data)) { bytes in
            guard result.count + bytes.count <= limit else {
                throw ZipFailure(.refused, "the compressed bytes hold more than \(limit) bytes")
            }
            result.append(contentsOf: bytes)
        }
        guard stream.isAtEnd else { throw ZipFailure(.damaged, "the compressed bytes have no end") }
        return result
    }
}
