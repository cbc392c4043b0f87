import Foundation

/// What Swift's type metadata says of a type: its kind, and the cases of an enumeration.
///
/// The layout of metadata is fixed by the ABI (`docs/ABI/TypeMetadata.rst` of the Swift repository), as is the memory
/// of an enumeration without associated values: a number, counted from 0 in the order of the cases.
enum TypeMetadata {
    enum Kind { case structure, enumeration, optional, tuple, classType, other }

    static func kind(of type: Any.Type) -> Kind {
        switch unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self) {
        case 0: .classType
        case 0x200: .structure
        case 0x201: .enumeration
        case 0x202: .optional
        case 0x301: .tuple
        // Where classes have an Objective-C class pointer instead.
        case let kind: kind > 0x7FF ? .classType : .other
        }
    }

    /// The cases of an enumeration.
    struct Cases {
        /// Those with associated values first.
        let names: [String]
        /// The number of cases with associated values.
        let payloadCount: Int

        var isPlain: Bool { payloadCount == 0 && !names.isEmpty }
    }

    /// The cases of an enumeration; `nil` for another type, and where the program was built without reflection
    /// metadata.
    static func cases(of type: Any.Type) -> Cases? {
        guard kind(of: type) == .enumeration else { return nil }
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        let descriptor = metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
        // The lower five bits of the flags: 18 is an enumeration.
        guard descriptor.load(as: UInt32.self) & 0x1F == 18 else { return nil }
        let payloadCount = Int(descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF)
        let emptyCount = Int(descriptor.load(fromByteOffset: 24, as: UInt32.self))
        guard let fields = relative(descriptor + 16) else { return nil }
        let recordSize = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
        let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
        guard count == payloadCount + emptyCount, recordSize >= 12 else { return nil }
        var names: [String] = []
        for index in 0..<count {
            guard let name = relative(fields + 16 + index * recordSize + 8) else { return nil }
            names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
        }
        return Cases(names: names, payloadCount: payloadCount)
    }

    private static func relative(_ pointer: UnsafeRawPointer) -> UnsafeRawPointer? {
        let offset = pointer.load(as: Int32.self)
        return offset == 0 ? nil : pointer + Int(offset)
    }

    /// The case at a position of an enumeration without associated values.
    ///
    /// - Precondition: ``cases(of:)`` says that there is one.
    static func value<T>(at index: Int, of type: T.Type) -> T {
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { memory in
            memory.storeBytes(of: UInt64(index).littleEndian, as: UInt64.self)
            return memory.load(as: T.self)
        }
    }

    /// The position of a case of an enumeration without associated values.
    static func index<T>(of value: T) -> Int {
        withUnsafeBytes(of: value) { bytes in
            bytes.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        }
    }
}
