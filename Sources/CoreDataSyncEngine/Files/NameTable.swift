import Foundation

/// Numbers for the names of entities and properties and for devices, so that states need not repeat them.
///
/// A name keeps its number: names are added and never removed.
package struct NameTable: Hashable, Sendable {
    package private(set) var names: [String] = []
    package private(set) var devices: [DeviceID] = []
    private var numbers: [String: Int] = [:]
    private var deviceNumbers: [DeviceID: Int] = [:]

    package init() {}

    /// The number of a name, which is added if it has none.
    package mutating func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        numbers[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// The number of a device, which is added if it has none.
    package mutating func number(of device: DeviceID) -> Int {
        if let number = deviceNumbers[device] { return number }
        deviceNumbers[device] = devices.count
        devices.append(device)
        return devices.count - 1
    }

    /// The number of a name that is in the table.
    package func existingNumber(of name: String) -> Int? { numbers[name] }
    package func existingNumber(of device: DeviceID) -> Int? { deviceNumbers[device] }

    package func name(_ number: Int) -> String? { names.indices.contains(number) ? names[number] : nil }
    package func device(_ number: Int) -> DeviceID? { devices.indices.contains(number) ? devices[number] : nil }

    package static func == (a: Self, b: Self) -> Bool { a.names == b.names && a.devices == b.devices }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(names)
        hasher.combine(devices)
    }
}

extension NameTable {
    package var bytes: Data {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.asData
    }

    package init(bytes: Data) throws(FileFault) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }

    func write(to writer: inout ByteWriter) {
        writer.varint(names.count)
        for name in names { writer.string(name) }
        writer.varint(devices.count)
        for device in devices { writer.identifier(device) }
    }

    init(from reader: inout ByteReader) throws(FileFault) {
        self.init()
        let nameCount = try reader.count()
        names.reserveCapacity(nameCount)
        numbers.reserveCapacity(nameCount)
        for number in 0..<nameCount {
            let name = try reader.string()
            guard self.number(of: name) == number else { throw reader.fault("the name “\(name)” is there twice") }
        }
        let deviceCount = try reader.count(ofSize: 16)
        for number in 0..<deviceCount {
            let device = try reader.identifier()
            guard self.number(of: device) == number else { throw reader.fault("the device \(device) is there twice") }
        }
    }
}
