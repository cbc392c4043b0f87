import Foundation

extension Value: Codable {
    private enum Key: String, CodingKey {
        case integer, double, decimal, string, date, data, uuid, uri
    }

    /// Encodes the value. Opaque values, which only their owner can archive, become null.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .null, .opaque: break
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .double(let value): try container.encode(value, forKey: .double)
        case .decimal(let value): try container.encode(value, forKey: .decimal)
        case .string(let value): try container.encode(value, forKey: .string)
        case .date(let value): try container.encode(value, forKey: .date)
        case .data(let value): try container.encode(value, forKey: .data)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        case .uri(let value): try container.encode(value, forKey: .uri)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self =
            switch container.allKeys.first {
            case nil: .null
            case .integer: .integer(try container.decode(Int64.self, forKey: .integer))
            case .double: .double(try container.decode(Double.self, forKey: .double))
            case .decimal: .decimal(try container.decode(Decimal.self, forKey: .decimal))
            case .string: .string(try container.decode(String.self, forKey: .string))
            case .date: .date(try container.decode(Double.self, forKey: .date))
            case .data: .data(try container.decode(Data.self, forKey: .data))
            case .uuid: .uuid(try container.decode(UUID.self, forKey: .uuid))
            case .uri: .uri(try container.decode(String.self, forKey: .uri))
            }
    }
}
