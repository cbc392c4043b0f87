import CoreDataPrimitives
import Foundation

extension ArchivedDefault {
    /// Adds a default to an archive; values that only their owner understands are omitted.
    static func reference(
        to value: Value, type: AttributeType, in writer: inout KeyedArchiveWriter
    ) -> PropertyListValue {
        switch value {
        case .null, .opaque: return KeyedArchiveWriter.null
        case .integer(let integer):
            return writer.scalar(type.kind == .boolean ? .bool(integer != 0) : .integer(integer))
        case .double(let double): return writer.scalar(.real(double))
        case .string(let text): return writer.text(text)
        case .data(let data): return writer.scalar(.data(data))
        case .date(let seconds): return writer.object(["NSDate"], ["NS.time": .real(seconds)])
        case .uuid(let uuid):
            return writer.object(["NSUUID"], ["NS.uuidbytes": .data(uuid.data)])
        case .uri(let text):
            return writer.object(["NSURL"], ["NS.base": KeyedArchiveWriter.null, "NS.relative": writer.text(text)])
        case .decimal(let decimal): return ArchivedDecimal.reference(to: decimal, in: &writer)
        }
    }
}

extension ArchivedDecimal {
    static func reference(to decimal: Decimal, in writer: inout KeyedArchiveWriter) -> PropertyListValue {
        var words: [UInt16] = []
        var rest = decimal.significand
        while rest > 0 && words.count < 8 {
            var quotient = rest / 65536
            var floor = Decimal()
            NSDecimalRound(&floor, &quotient, 0, .down)
            words.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: rest - floor * 65536).intValue))
            rest = floor
        }
        let padded = words + Array(repeating: 0, count: 8 - words.count)
        let mantissa = PropertyListValue.data(Data(padded.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }))
        return writer.object(
            ["NSDecimalNumber", "NSNumber", "NSValue"],
            [
                "NS.mantissa": mantissa, "NS.mantissa.bo": .integer(1),
                "NS.exponent": .integer(Int64(decimal.exponent)),
                "NS.length": .integer(Int64(words.count)), "NS.negative": .bool(decimal.isSignMinus),
                "NS.compact": .bool(true),
            ])
    }
}
