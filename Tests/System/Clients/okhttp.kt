// SPDX-License-Identifier: Apache-2.0
// The part of OkHttp 4 that the generated Kotlin client calls, on the HTTP client of Java: Debian has OkHttp 3, which lacks the
// functions of Kotlin, and nothing else here could be had without Maven.
package okhttp3

import java.io.ByteArrayInputStream
import java.io.Closeable
import java.io.File
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse

class MediaType(val text: String) {
    companion object {
        fun String.toMediaTypeOrNull(): MediaType? = MediaType(this)
    }
}

open class RequestBody(val bytes: ByteArray) {
    companion object {
        fun ByteArray.toRequestBody(type: MediaType? = null) = RequestBody(this)
        fun String.toRequestBody(type: MediaType? = null) = RequestBody(toByteArray())
        fun File.asRequestBody(type: MediaType? = null) = RequestBody(readBytes())
    }
}

class FormBody {
    class Builder {
        fun add(name: String, value: String): Builder = throw UnsupportedOperationException("$name is no part of a form")
        fun build(): RequestBody = throw UnsupportedOperationException("there are no forms")
    }
}

class MultipartBody {
    companion object {
        val FORM = MediaType("multipart/form-data")
    }
    class Builder {
        fun setType(type: MediaType): Builder = this
        fun addPart(headers: Headers, body: RequestBody): Builder = throw UnsupportedOperationException("there are no forms")
        fun build(): RequestBody = throw UnsupportedOperationException("there are no forms")
    }
}

class Headers(val fields: List<Pair<String, String>>) {
    fun toMultimap(): Map<String, List<String>> = fields.groupBy({ it.first.lowercase() }, { it.second })
    operator fun get(name: String): String? = fields.lastOrNull { it.first.equals(name, ignoreCase = true) }?.second

    class Builder {
        private val fields = mutableListOf<Pair<String, String>>()
        fun add(name: String, value: String): Builder = apply { fields.add(name to value) }
        fun build() = Headers(fields)
    }
    companion object {
        fun Map<String, String>.toHeaders() = Headers(toList())
    }
}

class HttpUrl(val base: String, val path: String, val query: List<Pair<String, String?>>) {
    fun newBuilder() = Builder(this)
    fun uri(): URI {
        val pairs = query.joinToString("&") { (name, value) -> name.encoded() + "=" + (value ?: "").encoded() }
        return URI(base.trimEnd('/') + "/" + path + if (pairs.isEmpty()) "" else "?$pairs")
    }

    val encodedPathSegments get() = path.split("/")

    class Builder(private val url: HttpUrl = HttpUrl("", "", emptyList())) {
        private var path = url.path
        private val query = url.query.toMutableList()
        fun addEncodedPathSegments(segments: String): Builder = apply { path = segments }
        fun scheme(name: String): Builder = this
        fun host(name: String): Builder = this
        fun addPathSegment(segment: String): Builder =
            apply { path = URLEncoder.encode(segment, Charsets.UTF_8).replace("+", "%20") }
        fun addQueryParameter(name: String, value: String?): Builder = apply { query.add(name to value) }
        fun build() = HttpUrl(url.base, path, query)
    }
    companion object {
        fun String.toHttpUrlOrNull(): HttpUrl? = HttpUrl(this, "", emptyList())
        private fun String.encoded() = URLEncoder.encode(this, Charsets.UTF_8)
    }
}

class Request(val url: HttpUrl, val method: String, val headers: Headers, val body: RequestBody?) {
    class Builder {
        private lateinit var url: HttpUrl
        private var method = "GET"
        private var headers = Headers(emptyList())
        private var body: RequestBody? = null
        fun url(url: HttpUrl): Builder = apply { this.url = url }
        fun method(method: String, body: RequestBody?): Builder = apply { this.method = method; this.body = body }
        fun head() = method("HEAD", null)
        fun delete(body: RequestBody?) = method("DELETE", body)
        fun patch(body: RequestBody) = method("PATCH", body)
        fun put(body: RequestBody) = method("PUT", body)
        fun post(body: RequestBody) = method("POST", body)
        fun headers(headers: Headers): Builder = apply { this.headers = headers }
        fun build() = Request(url, method, headers, body)
    }
}

class ResponseBody(private val bytes: ByteArray) {
    fun byteStream() = ByteArrayInputStream(bytes)
    fun bytes() = bytes
    fun string() = String(bytes)
}

class Response(val code: Int, val headers: Headers, val body: ResponseBody?) : Closeable {
    val message = ""
    val isRedirect get() = code in 300..399
    val isSuccessful get() = code in 200..299
    fun header(name: String): String? = headers[name]
    override fun close() {}
}

interface Callback

interface Call {
    fun execute(): Response

    interface Factory {
        fun newCall(request: Request): Call
    }
}

class OkHttpClient : Call.Factory {
    private val client: HttpClient = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

    override fun newCall(request: Request) = object : Call {
        override fun execute(): Response {
            val body = request.body?.bytes?.let { HttpRequest.BodyPublishers.ofByteArray(it) }
            val made = HttpRequest.newBuilder(request.url.uri()).method(request.method, body ?: HttpRequest.BodyPublishers.noBody())
            request.headers.fields.forEach { (name, value) -> made.header(name, value) }
            val answer = client.send(made.build(), HttpResponse.BodyHandlers.ofByteArray())
            val fields = answer.headers().map().flatMap { (name, values) -> values.map { name to it } }
            return Response(answer.statusCode(), Headers(fields), ResponseBody(answer.body()))
        }
    }

    class Builder {
        fun build() = OkHttpClient()
    }
}
