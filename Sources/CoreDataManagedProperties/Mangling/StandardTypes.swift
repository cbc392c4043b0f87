/// The types and protocols of the standard library that have two-letter symbols: `Si` is `Int`.
enum StandardTypes {
    static let letters: [String: UInt8] = {
        var letters: [String: UInt8] = [:]
        for entry in table.split(whereSeparator: \.isWhitespace) {
            let parts = entry.split(separator: ":")
            letters[String(parts[1])] = parts[0].utf8.first
        }
        return letters
    }()

    private static let table = """
        A:AutoreleasingUnsafeMutablePointer a:Array b:Bool D:Dictionary d:Double f:Float h:Set I:DefaultIndices i:Int
        J:Character N:ClosedRange n:Range O:ObjectIdentifier P:UnsafePointer p:UnsafeMutablePointer
        R:UnsafeBufferPointer r:UnsafeMutableBufferPointer S:String s:Substring u:UInt V:UnsafeRawPointer
        v:UnsafeMutableRawPointer W:UnsafeRawBufferPointer w:UnsafeMutableRawBufferPointer q:Optional
        B:BinaryFloatingPoint E:Encodable e:Decodable F:FloatingPoint G:RandomNumberGenerator H:Hashable j:Numeric
        K:BidirectionalCollection k:RandomAccessCollection L:Comparable l:Collection M:MutableCollection
        m:RangeReplaceableCollection Q:Equatable T:Sequence t:IteratorProtocol U:UnsignedInteger X:RangeExpression
        x:Strideable Y:RawRepresentable y:StringProtocol Z:SignedInteger z:BinaryInteger
        """
}
