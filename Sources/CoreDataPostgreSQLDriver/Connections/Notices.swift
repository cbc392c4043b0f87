import CPostgreSQL
import CoreDataSQL

/// The notices that the server sends in addition to results.
final class Notices {
    var reports: [DerivedAttributeReport] = []

    static let receive: PQnoticeReceiver = { context, result in
        guard let context, let result else { return }
        let notices = Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
        guard let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))),
            String(cString: state) == ServerText.reportState,
            let message = PQresultErrorField(result, Int32(UInt8(ascii: "M")))
        else { return }
        if let report = ServerText.report(String(cString: message)) { notices.reports.append(report) }
    }
}
